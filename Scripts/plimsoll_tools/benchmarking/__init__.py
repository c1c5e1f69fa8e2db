"""The figures of the page "Performance", measured beside their anchors."""
