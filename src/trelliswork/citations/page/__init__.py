"""References as a page to look at: one HTML file that needs nothing else.

The page is put together from a summary, a legend and a card for each reference; its style and its
script lie next to the modules.
"""

from trelliswork.citations.page.render import render_page

__all__ = ["render_page"]
