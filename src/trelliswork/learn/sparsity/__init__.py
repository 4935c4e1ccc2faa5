"""Weights that are exactly 0: norms of groups, their proximal operators and duality gaps.

prox_{sΩ}(w) = argmin_u ½‖u − w‖² + s Ω(u)
"""
