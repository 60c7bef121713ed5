"""Trains the word vectors of the search model.

    python3 training/train.py --data DIR --out DIR [--epochs N] [--hold-out 0.05]

In: what `prepare.mjs` wrote. Out: one vector a word (float32), one weight for each part of a tool, and figures of the
held-out requests. A text is the weighted sum of its words' vectors; a request and its tool are pulled together and pushed
away from the other tools of the batch and from siblings on the same server (InfoNCE). Runs on a CPU.
"""

import argparse
import json
import math
import os
import random
import time

import numpy as np
import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--out", required=True)
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--batch", type=int, default=512)
parser.add_argument("--dimensions", type=int, default=128)
parser.add_argument("--rate", type=float, default=2e-3)
parser.add_argument("--temperature", type=float, default=0.06)
parser.add_argument("--anchor", type=float, default=0.0)
parser.add_argument("--word-dropout", type=float, default=0.15)
parser.add_argument("--part-dropout", type=float, default=0.4)
parser.add_argument("--glosses", type=int, default=30000)
parser.add_argument("--self-share", type=float, default=1.0)
parser.add_argument("--request-repeat", type=int, default=3)
parser.add_argument("--pair-share", type=float, default=0.7)
parser.add_argument("--hold-out", type=float, default=0.05)
parser.add_argument("--leave-out", help="JSON list of tools whose requests are not learnt from")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--device", default="cpu")
args = parser.parse_args()

random.seed(args.seed)
np.random.seed(args.seed)
torch.manual_seed(args.seed)
torch.set_num_threads(2)
torch.set_default_device(args.device)

PARTS = 5
NAME, LEAD, REST, PARAMETERS = 1, 2, 3, 4


def rows(name):
    with open(os.path.join(args.data, name), encoding="utf8") as file:
        return [json.loads(line) for line in file]


vocabulary = json.load(open(os.path.join(args.data, "vocabulary.json"), encoding="utf8"))
tools = rows("tools.jsonl")
requests = rows("requests.jsonl")
pairs = rows("pairs.jsonl")
glosses = rows("glosses.jsonl")
documents = [tool["parts"] for tool in tools]
siblings = {}
for place, tool in enumerate(tools):
    siblings.setdefault(tool["server"], []).append(place)

# Whole servers are held out, so that the figure speaks of servers nobody wrote requests for.
servers = sorted({tools[request["place"]]["server"] for request in requests})
held = set(random.Random(7).sample(servers, int(len(servers) * args.hold_out)))
test = [request for request in requests if tools[request["place"]]["server"] in held]
left_out = set(json.load(open(args.leave_out))) if args.leave_out else set()
train = [
    request
    for request in requests
    if tools[request["place"]]["server"] not in held and request["place"] not in left_out
]

frequency = np.zeros(len(vocabulary))
for parts in documents:
    for word in {word for part in parts for word in part}:
        frequency[word] += 1
rarity = np.log(1 + len(documents) / (1 + frequency))
rarity /= rarity.max()

glove = np.fromfile(os.path.join(args.data, "glove.f32"), np.float32).reshape(-1, 100)
norms = np.linalg.norm(glove, axis=1, keepdims=True)
start = np.zeros((len(vocabulary), args.dimensions), np.float32)
noise = np.random.default_rng(args.seed).normal(0, 1, start.shape).astype(np.float32)
start[:, :100] = np.where(norms > 0, glove / np.maximum(norms, 1e-6), noise[:, :100] * 0.07)
start[:, 100:] = noise[:, 100:] * 0.02
start *= rarity[:, None].astype(np.float32)

vectors = torch.nn.Parameter(torch.tensor(start))
anchor = torch.tensor(start)
part_weights = torch.nn.Parameter(torch.tensor([0.4, 1.5, 1.0, 0.5, 0.5]))
optimizer = torch.optim.Adam(
    [{"params": [vectors], "lr": args.rate}, {"params": [part_weights], "lr": 1e-2}], betas=(0.9, 0.99)
)


def bag(lists, dropout):
    flat, offsets, lengths = [], [], []
    for words in lists:
        if dropout > 0 and len(words) > 2:
            kept = [word for word in words if random.random() >= dropout]
            words = kept or words
        offsets.append(len(flat))
        flat.extend(words)
        lengths.append(max(1, len(words)))
    if not flat:
        return torch.zeros(len(lists), args.dimensions)
    sums = F.embedding_bag(torch.tensor(flat), vectors, torch.tensor(offsets), mode="sum")
    return sums / torch.tensor(lengths, dtype=torch.float32).sqrt().unsqueeze(1)


def embed_queries(lists, dropout=0.0):
    return F.normalize(bag(lists, dropout), dim=1, eps=1e-6)


def embed_documents(parts, dropout=0.0):
    total = torch.zeros(len(parts), args.dimensions)
    for part in range(PARTS):
        total = total + part_weights[part] * bag([document[part] for document in parts], dropout)
    return F.normalize(total, dim=1, eps=1e-6)


def thinned(parts):
    """Leaves parts out now and then, so that no part alone carries a tool; never all of them."""
    if random.random() >= args.part_dropout:
        return parts
    kept = [part if random.random() > 0.4 else [] for part in parts]
    return kept if any(kept) else parts


def self_supervised():
    """A tool explains itself: what it says it does against its name and parameters, and the other way round."""
    made = []
    for place, parts in enumerate(documents):
        if len(parts[LEAD]) >= 3 and parts[NAME]:
            made.append((parts[LEAD], [parts[0], parts[NAME], [], [], parts[PARAMETERS]], place))
            made.append((parts[NAME], [parts[0], [], parts[LEAD], parts[REST], parts[PARAMETERS]], place))
    return made


def epoch_examples():
    examples = []
    for request in train * args.request_repeat:
        examples.append((request["words"], thinned(documents[request["place"]]), request["place"]))
    own = self_supervised()
    examples += random.sample(own, int(len(own) * args.self_share))
    examples += [(pair["words"], pair["parts"], None) for pair in random.sample(pairs, int(len(pairs) * args.pair_share))]
    for entry in random.sample(glosses, min(args.glosses, len(glosses))):
        lemma = random.choice(entry["lemmas"])
        others = [other for other in entry["lemmas"] if other is not lemma]
        if others and random.random() < 0.5:
            examples.append((lemma, [[], random.choice(others), [], [], []], None))
        else:
            examples.append((lemma, [[], [], entry["gloss"], [], []], None))
    random.shuffle(examples)
    return [example for example in examples if example[0]]


def held_out_figures():
    with torch.no_grad():
        all_documents = embed_documents(documents)
        queries = embed_queries([request["words"] for request in test])
        scores = queries @ all_documents.T
        own = scores[torch.arange(len(test)), torch.tensor([request["place"] for request in test])]
        ranks = (scores > own.unsqueeze(1)).sum(1) + 1
        return {
            "requests": len(test),
            "hit@1": round((ranks == 1).float().mean().item(), 4),
            "hit@10": round((ranks <= 10).float().mean().item(), 4),
            "mrr": round((1 / ranks.float()).mean().item(), 4),
        }


began = time.time()
print(json.dumps({"epoch": 0, **(held_out_figures() if test else {})}), flush=True)
total_steps = args.epochs * (len(epoch_examples()) // args.batch)
step = 0
for epoch in range(1, args.epochs + 1):
    examples = epoch_examples()
    losses = []
    for at in range(0, len(examples) - args.batch + 1, args.batch):
        batch = examples[at : at + args.batch]
        places = [place for _, _, place in batch]
        negatives = []
        for place in places:
            if place is None:
                continue
            near = siblings[tools[place]["server"]]
            if len(near) > 1:
                other = random.choice(near)
                if other != place:
                    negatives.append(other)
        progress = step / max(1, total_steps)
        for group in optimizer.param_groups[:1]:
            group["lr"] = args.rate * min(1, step / 50) * (1 - progress)
        queries = embed_queries([words for words, _, _ in batch], args.word_dropout)
        targets = embed_documents([parts for _, parts, _ in batch] + [documents[other] for other in negatives], args.word_dropout)
        scores = queries @ targets.T / args.temperature
        owners = places + negatives
        by_place = {}
        for column, owner in enumerate(owners):
            if owner is not None:
                by_place.setdefault(owner, []).append(column)
        # The same tool elsewhere in the batch is no wrong answer.
        same = [
            (row, column)
            for row, place in enumerate(places)
            if place is not None
            for column in by_place[place]
            if column != row
        ]
        mask = torch.zeros_like(scores, dtype=torch.bool)
        if same:
            cells = torch.tensor(same)
            mask[cells[:, 0], cells[:, 1]] = True
        scores = scores.masked_fill(mask, -1e4)
        loss = F.cross_entropy(scores, torch.arange(len(batch)))
        if args.anchor > 0:
            loss = loss + args.anchor * (vectors - anchor).pow(2).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        step += 1
    print(
        json.dumps({"epoch": epoch, "loss": round(float(np.mean(losses)), 4), "seconds": round(time.time() - began), **(held_out_figures() if test else {})}),
        flush=True,
    )

os.makedirs(args.out, exist_ok=True)
with torch.no_grad():
    vectors.cpu().numpy().tofile(os.path.join(args.out, "vectors.f32"))
    json.dump([round(weight, 4) for weight in part_weights.tolist()], open(os.path.join(args.out, "parts.json"), "w"))
    json.dump({"arguments": vars(args), "held_out": held_out_figures() if test else {}}, open(os.path.join(args.out, "training.json"), "w"), indent=2)
