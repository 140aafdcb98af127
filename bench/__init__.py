"""The benchmark: `python -m bench` from the root of the repository.

Every measurement runs in a fresh process of the same interpreter (`bench.child`), beside yardsticks of the
same run (`bench.measure.reading`, `bench.measure.writer_thread`), on seeded sessions (`bench.generate`) that
are kept in the system's temporary directory (`bench.fixtures`). Each module of `bench.cases` is one case.
"""
