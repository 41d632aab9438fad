"""Figures of results: page has the scene and draws it, slides and html draw it for a room and for a browser."""
