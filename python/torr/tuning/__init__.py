"""Tuning: the procedure that searches settings and judges the finalists, and its simulation."""
