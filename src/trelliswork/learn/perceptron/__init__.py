"""The averaged perceptron: passes over sentences, with shrinkage for sparse models.

W ← W + η (Xᵀ[gold] − Xᵀ[ŷ])
"""
