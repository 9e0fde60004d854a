"""Primitives that hold jaxprs: branches, loops, calls, and the rules that users give.

They sit above the passes because their rules apply the passes to their bodies. A jaxpr in a
parameter has no constvars: what a body closes over is an operand of the equation.
"""
