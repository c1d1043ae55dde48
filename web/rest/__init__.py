"""The REST API, with one file per noun and each view beside the bodies it accepts. Views translate, nothing more."""
