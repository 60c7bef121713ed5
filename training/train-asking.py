"""
Trains the model of asking: how much each word of a long request asks. The vectors of words and tools stay as they are.

    python3 training/train-asking.py --data DIR --out FILE

DIR is what prepare-asking.mjs wrote. A request's vector is the weighted sum of the vectors of its words, and it has to be nearer
to its tool than to all others. The stories of held-out servers are only measured on.
"""
import argparse
import base64
import hashlib
import json
import os
import random
import time

import numpy as np
import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--out", required=True)
parser.add_argument("--width", type=int, default=16)
parser.add_argument("--heads", type=int, default=2)
parser.add_argument("--inner", type=int, default=32)
parser.add_argument("--places", type=int, default=32)
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--rate", type=float, default=1e-3)
parser.add_argument("--decay", type=float, default=0.05)
parser.add_argument("--dropout", type=float, default=0.15)
parser.add_argument("--temperature", type=float, default=0.06)
parser.add_argument("--requests", type=float, default=0.05, help="the share of requests that an epoch shows beside all stories")
parser.add_argument("--shuffle", type=float, default=0.5, help="how often a request is shown with its sentences in another order")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--device", default="cpu")
args = parser.parse_args()

random.seed(args.seed)
np.random.seed(args.seed)
torch.manual_seed(args.seed)
torch.set_num_threads(2)

SIGNS = 11
about = json.load(open(os.path.join(args.data, "about.json")))
D = about["dimensions"]


def matrix(name):
    return torch.tensor(np.fromfile(os.path.join(args.data, name), np.float32).reshape(-1, D), device=args.device)


words, tools = matrix("words.f32"), matrix("tools.f32")
examples = [json.loads(line) for line in open(os.path.join(args.data, "examples.jsonl"))]
held = {example["server"] for example in examples if example["heldOut"]}
test = [example for example in examples if example["heldOut"]]
stories = [example for example in examples if example["isStory"] and example["server"] not in held]
requests = [example for example in examples if not example["isStory"] and example["server"] not in held]


# The places in SIGNS of asking-model.ts of what ends a sentence: . ? ! and a new line.
ENDS = {-1 - sign for sign in (2, 3, 4, 10)}


def shuffled(example):
    """Most stories tell first and ask at the end; with their sentences in any order, the place alone says nothing."""
    if random.random() >= args.shuffle:
        return example
    sentences, sentence = [], []
    for piece in example["pieces"]:
        sentence.append(piece)
        if piece in ENDS:
            sentences.append(sentence)
            sentence = []
    sentences.append(sentence)
    random.shuffle(sentences)
    return {**example, "pieces": [piece for sentence in sentences for piece in sentence]}


class Asking(torch.nn.Module):
    def __init__(self):
        super().__init__()
        width, inner = args.width, args.inner
        self.project = torch.nn.Linear(D, width)
        self.signs = torch.nn.Parameter(torch.randn(SIGNS, width) * 0.1)
        self.from_start = torch.nn.Parameter(torch.randn(args.places, width) * 0.1)
        self.from_end = torch.nn.Parameter(torch.randn(args.places, width) * 0.1)
        self.norm_attention = torch.nn.LayerNorm(width)
        self.queries, self.keys, self.values, self.together = (torch.nn.Linear(width, width) for _ in range(4))
        self.norm_inner = torch.nn.LayerNorm(width)
        self.widen, self.narrow = torch.nn.Linear(width, inner), torch.nn.Linear(inner, width)
        self.norm_score = torch.nn.LayerNorm(width)
        self.score = torch.nn.Linear(width, 1)

    def forward(self, pieces, lengths):
        """The weight of each piece, and the vectors of those that are words."""
        count, longest = pieces.shape
        is_word = pieces >= 0
        vectors = words[pieces.clamp(min=0)] * is_word.unsqueeze(-1)
        at = torch.arange(longest, device=pieces.device)
        inside = at < lengths.unsqueeze(1)
        state = torch.where(is_word.unsqueeze(-1), self.project(vectors), self.signs[(-1 - pieces).clamp(min=0)])
        state = state + self.from_start[at.clamp(max=args.places - 1)]
        state = state + self.from_end[(lengths.unsqueeze(1) - 1 - at).clamp(0, args.places - 1)]
        state = F.dropout(state, args.dropout, self.training)
        normal = self.norm_attention(state)
        split = lambda rows: rows.view(count, longest, args.heads, -1).transpose(1, 2)
        attended = F.scaled_dot_product_attention(
            split(self.queries(normal)), split(self.keys(normal)), split(self.values(normal)), attn_mask=inside[:, None, None, :]
        )
        attended = self.together(attended.transpose(1, 2).reshape(count, longest, args.width))
        state = state + F.dropout(attended, args.dropout, self.training)
        inner = self.narrow(F.relu(self.widen(self.norm_inner(state))))
        state = state + F.dropout(inner, args.dropout, self.training)
        weights = torch.sigmoid(self.score(self.norm_score(state))).squeeze(-1) * inside
        return weights, vectors


def numbers_of(model):
    """In the order in which asking-model.ts reads them."""
    linear = lambda layer: [layer.weight, layer.bias]
    tensors = [
        *linear(model.project), model.signs, model.from_start, model.from_end,
        *linear(model.norm_attention), *linear(model.queries), *linear(model.keys), *linear(model.values), *linear(model.together),
        *linear(model.norm_inner), *linear(model.widen), *linear(model.narrow), *linear(model.norm_score), *linear(model.score),
    ]  # fmt: skip
    return np.concatenate([tensor.detach().cpu().numpy().astype("<f4").ravel() for tensor in tensors])


def embed(model, batch):
    """The vectors of requests; without a model every word counts the same."""
    lengths = torch.tensor([len(example["pieces"]) for example in batch], device=args.device)
    padded = [example["pieces"] + [-1] * (int(lengths.max()) - len(example["pieces"])) for example in batch]
    pieces = torch.tensor(padded, device=args.device)
    if model is None:
        weights, vectors = (pieces >= 0).float(), words[pieces.clamp(min=0)]
    else:
        weights, vectors = model(pieces, lengths)
    return F.normalize((weights.unsqueeze(-1) * vectors).sum(1), dim=1, eps=1e-6)


def figures(model, batch):
    if model is not None:
        model.eval()
    with torch.no_grad():
        parts = [embed(model, batch[at : at + 64]) for at in range(0, len(batch), 64)]
        scores = torch.cat(parts) @ tools.T
        own = scores.gather(1, torch.tensor([example["place"] for example in batch], device=args.device)[:, None])
        ranks = (scores > own).sum(1) + 1
    if model is not None:
        model.train()
    return {"stories": len(batch), "hit@1": round((ranks == 1).float().mean().item(), 4), "hit@10": round((ranks <= 10).float().mean().item(), 4), "mrr": round((1 / ranks.float()).mean().item(), 4)}


model = Asking().to(args.device)
optimizer = torch.optim.AdamW(model.parameters(), lr=args.rate, weight_decay=args.decay)
began, step = time.time(), 0
per_epoch = len(stories) + int(len(requests) * args.requests)
steps = args.epochs * (per_epoch // args.batch)
print(json.dumps({"unweighted": figures(None, test), "train": len(stories), "requests": len(requests)}), flush=True)
for epoch in range(1, args.epochs + 1):
    shown = stories + random.sample(requests, int(len(requests) * args.requests))
    random.shuffle(shown)
    losses = []
    for at in range(0, len(shown) - args.batch + 1, args.batch):
        batch = [shuffled(example) for example in shown[at : at + args.batch]]
        for group in optimizer.param_groups:
            group["lr"] = args.rate * min(1, step / 30) * (1 - step / steps)
        scores = embed(model, batch) @ tools.T / args.temperature
        loss = F.cross_entropy(scores, torch.tensor([example["place"] for example in batch], device=args.device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        step += 1
    print(json.dumps({"epoch": epoch, "loss": round(float(np.mean(losses)), 4), "seconds": round(time.time() - began), **figures(model, test)}), flush=True)

numbers = numbers_of(model)
os.makedirs(os.path.dirname(os.path.abspath(args.out)), exist_ok=True)
with open(args.out, "w") as file:
    json.dump(
        {
            "id": hashlib.sha256(numbers.tobytes()).hexdigest()[:16],
            "vectors": about["vectors"],
            "width": args.width,
            "heads": args.heads,
            "inner": args.inner,
            "places": args.places,
            "trained": {"seed": args.seed, "epochs": args.epochs, "stories": len(stories), "requests": len(requests), "heldOut": {"servers": len(held), **figures(model, test)}},
            "numbers": base64.b64encode(numbers.tobytes()).decode(),
        },
        file,
    )
    file.write("\n")
