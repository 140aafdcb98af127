"""The measurements: functions that run in a fresh process each (`bench.child`) and return figures.

Those of the library import it at the top, so that no figure holds the time of an import; the yardsticks,
`reading` and `writer_thread`, do not import it at all.
"""
