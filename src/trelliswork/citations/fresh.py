"""References written by hand, of works that no model here has seen."""

from __future__ import annotations

FRESH_REFERENCES: tuple[str, ...] = (
    "Vaswani, A., Shazeer, N., Parmar, N., Uszkoreit, J., Jones, L., Gomez, A. N., Kaiser, Ł., & "
    "Polosukhin, I. (2017). Attention is all you need. In I. Guyon et al. (Eds.), Advances in "
    "Neural Information Processing Systems (Vol. 30, pp. 5998–6008). Curran Associates.",
    "John Lafferty, Andrew McCallum, and Fernando Pereira. Conditional random fields: "
    "Probabilistic models for segmenting and labeling sequence data. In Proceedings of the "
    "Eighteenth International Conference on Machine Learning, pages 282–289, Williamstown, MA, "
    "June 2001. Morgan Kaufmann.",
    "[7] L. R. Rabiner, “A tutorial on hidden Markov models and selected applications in speech "
    "recog- nition,” Proc. IEEE, vol. 77, no. 2, pp. 257–286, Feb. 1989.",
    "Kuhn, Thomas S. The Structure of Scientific Revolutions. 2nd ed. Chicago: University of "
    "Chicago Press, 1970.",
    "Watson, J. D. & Crick, F. H. C. Molecular structure of nucleic acids: a structure for "
    "deoxyribose nucleic acid. Nature 171, 737–738 (1953).",
    "L. Page, S. Brin, R. Motwani, and T. Winograd. The PageRank citation ranking: Bringing order "
    "to the web. Technical Report 1999-66, Stanford InfoLab, November 1999.",
    "Claude E. Shannon, “A Symbolic Analysis of Relay and Switching Circuits” (master’s thesis, "
    "Massachusetts Institute of Technology, 1940).",
    "Piketty, Thomas. 2014. Capital in the Twenty-First Century. Translated by Arthur Goldhammer. "
    "Cambridge, MA: Belknap Press of Harvard University Press.",
    "Hochreiter S, Schmidhuber J. Long short-term memory. Neural Comput. 1997 Nov 15;9(8):1735-80.",
    "STRUNK, William ; WHITE, E. B.: The Elements of Style. 4. Aufl. Boston: Allyn and Bacon, 1999",
    "Cooper, G.F., Herskovits, E.: A Bayesian method for the induction of probabilistic networks "
    "from data. Mach. Learn. 9(4), 309–347 (1992)",
    "P. Mockapetris, Domain names – concepts and facilities, RFC 1034, Internet Engineering Task "
    "Force, Nov. 1987, https://www.rfc-editor.org/rfc/rfc1034",
)
