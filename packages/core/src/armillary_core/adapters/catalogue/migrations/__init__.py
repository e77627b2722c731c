"""Numbered SQL files; the number of the last one applied is the file's `user_version`."""
