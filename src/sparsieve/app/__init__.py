"""The wing of files, commands, pages and figures around the core, which never imports it."""
