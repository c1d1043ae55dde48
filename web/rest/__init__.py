"""REST: one file per noun, each view beside the bodies it accepts. Views translate, nothing more."""
