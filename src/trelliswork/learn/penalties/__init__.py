"""Penalties of soft rules, learned by decoding: the structured perceptron and an exact SVM.

∂ρ_c = v_c(ŷ) − v_c(gold),   ρ_c ≥ 0
"""
