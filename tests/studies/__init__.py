"""Simulation studies: what an interval promises, checked over thousands of audits whose truth is known.

``python -m tests.studies`` runs them in full and writes one tidy table each to ``data/studies``; the test suite runs
the same functions in a short form.
"""
