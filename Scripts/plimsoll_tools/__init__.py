"""What the programs of Scripts/ share: pictures, reports, tuning, and the comparison of builds, backends and anchors."""

__version__ = "0.1.0"
