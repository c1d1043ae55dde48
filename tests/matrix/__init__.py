"""Every operation, admin page and socket command by everybody who may ask for it, generated from the code's own lists."""
