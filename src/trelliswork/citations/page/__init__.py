"""References as a self-contained HTML page.

`render_page` combines a summary, a legend and a card for each reference. The style sheet and the
script are files beside the modules.
"""

from trelliswork.citations.page.render import render_page

__all__ = ["render_page"]
