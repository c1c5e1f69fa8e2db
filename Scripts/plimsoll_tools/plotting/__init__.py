"""The pictures of runs, comparisons and sweeps."""

import logging

# When a user draws for the first time, matplotlib makes a list of the fonts. On a slow machine it warns that this takes a
# moment, which is no fault of the picture. A font that is missing is no warning either: the style takes one that is there.
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
