"""Retrieval quality over judged public questions, measured through the whole product. Not part of what users run."""
