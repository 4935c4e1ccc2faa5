"""A transformer encoder with a CRF head that obeys rules: fields of a reference in one run each."""

import re
import zlib

import trelliswork as tw
from trelliswork.citations import FIELDS, STYLES, load_works, split
from trelliswork.constraints import contiguous
from trelliswork.torch import CRF  # before torch: says how to install it

# isort: split
import torch
from torch import nn

BUCKETS = 4000
RULES = [contiguous(field) for field in ("author", "title", "journal", "pages")]  # one run each


class Tagger(nn.Module):
    """Hashed words and shapes, a transformer encoder, a CRF."""

    def __init__(self, constraints: list[object], width: int = 32) -> None:
        super().__init__()
        self.words = nn.Embedding(BUCKETS, width)
        self.positions = nn.Embedding(256, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.scores = nn.Linear(width, len(FIELDS))
        self.crf = CRF(len(FIELDS), batch_first=True, labels=FIELDS, constraints=constraints)

    def forward(self, words: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Score every field on every token."""
        inputs = self.words(words).sum(2) + self.positions(torch.arange(words.shape[1]))
        return self.scores(self.encoder(inputs, src_key_padding_mask=~mask))


def features(token: str) -> list[int]:
    shape = re.sub("[a-z]+", "x", re.sub("[A-Z]", "X", re.sub("[0-9]", "9", token)))
    return [zlib.crc32(text.encode()) % BUCKETS for text in (token.lower(), f"shape {shape}")]


def padded(references: list | tuple) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rows = [torch.tensor([features(token) for token in r.tokens]) for r in references]
    words = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    gold = [torch.tensor([FIELDS.index(name) for name in r.labels]) for r in references]
    tags = nn.utils.rnn.pad_sequence(gold, batch_first=True, padding_value=-100)
    return words, tags, tags != -100


def train(references: list | tuple, constraints: list[object], epochs: int = 7) -> Tagger:
    torch.manual_seed(0)
    model = Tagger(constraints)
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(epochs):
        for batch in torch.randperm(len(references)).split(16):
            words, tags, mask = padded([references[i] for i in batch])
            loss = -model.crf(model(words, mask), tags, mask, reduction="token_mean")
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return model.eval()


def main() -> None:
    torch.set_num_threads(1)  # tensors are small: threads would only wait for each other
    data = split(load_works(), STYLES, per_work=1)
    print(f"{len(data.train)} references to learn from, {len(data.new_works)} to test")
    words, _, mask = padded(data.new_works)
    for title, rules in (("without rules", []), ("with rules", RULES)):
        model = train(data.train, rules)
        paths = model.crf.decode(model(words, mask), mask)
        found = [[FIELDS[tag] for tag in path] for path in paths]
        broken = sum(any(rule.violations(labels) for rule in RULES) for labels in found)
        right = tw.report([r.labels for r in data.new_works], found).token_accuracy
        print(f"{title:13}  token accuracy {right:.1%}, references that break a rule: {broken}")


if __name__ == "__main__":
    main()
