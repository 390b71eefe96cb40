"""Speed and memory against peers, as ratios measured side by side: ``python -m benchmarks``.

Nothing here asserts on seconds. CPU time (all threads of the process) is compared where both sides run on one
thread, so that a busy machine does not matter; wall time where an engine is entitled to all cores.
"""
