"""Trains the word vectors of the search model.

    python3 training/train.py --data DIR --out DIR [--epochs N] [--hold-out 0.05] [--device cuda]

In: what `prepare.mjs` wrote. Out: one vector a word (float32), one weight for each part of a tool, and figures of what
was held out. A text is the weighted sum of its words' vectors; a request and its tool are pulled together and pushed
away from the other tools of the batch and from siblings on the same server (InfoNCE). Minutes on a CPU.
"""

import argparse
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
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--batch", type=int, default=2048)
parser.add_argument("--dimensions", type=int, default=192)
parser.add_argument("--rate", type=float, default=4e-3)
parser.add_argument("--temperature", type=float, default=0.06)
parser.add_argument("--word-dropout", type=float, default=0.25)
parser.add_argument("--part-dropout", type=float, default=0.4)
parser.add_argument("--glosses", type=int, default=30000)
parser.add_argument("--request-repeat", type=int, default=3)
parser.add_argument("--story-repeat", type=int, default=6)
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

# How many words of each part of a tool are read, and of a request: at least as many as search reads.
MOST_WORDS = {"server": 12, "name": 24, "lead": 32, "rest": 64, "parameters": 32}
REQUEST_WORDS = 64
PARTS = len(MOST_WORDS)


def rows(name):
    with open(os.path.join(args.data, name), encoding="utf8") as file:
        return [json.loads(line) for line in file]


vocabulary = json.load(open(os.path.join(args.data, "vocabulary.json"), encoding="utf8"))
NO_WORD = len(vocabulary)
tools = rows("tools.jsonl")
requests = [request for request in rows("requests.jsonl") if request["words"]]
pairs = [pair for pair in rows("pairs.jsonl") if pair["words"]]
glosses = rows("glosses.jsonl")

# Whole servers are held out, so that the figures speak of servers nobody wrote requests for.
servers = sorted({tools[request["place"]]["server"] for request in requests})
held = set(random.Random(7).sample(servers, int(len(servers) * args.hold_out)))
left_out = set(json.load(open(args.leave_out))) if args.leave_out else set()


def is_held(request):
    return request.get("heldOut", False) or tools[request["place"]]["server"] in held


learnt = [request for request in requests if not is_held(request) and request["place"] not in left_out]
held_out = {
    kind: [request for request in requests if is_held(request) and request.get("story", False) == (kind == "stories")]
    for kind in ("requests", "stories")
}


def padded(lists, width):
    table = np.full((len(lists), width), NO_WORD, np.int64)
    for row, words in enumerate(lists):
        table[row, : min(width, len(words))] = words[:width]
    return table


def document_table(documents):
    return np.concatenate(
        [padded([parts[place] for parts in documents], width) for place, width in enumerate(MOST_WORDS.values())], axis=1
    )


# An example is a text, a document, which parts of the document may be seen, and the tool it is about (-1: none).
ALL, DESCRIBED, NAMED = [1, 1, 1, 1, 1], [1, 0, 1, 1, 1], [1, 1, 0, 0, 1]
documents = [tool["parts"] for tool in tools]
TOOLS = len(documents)
examples = []


def add(rows_of_examples):
    """Returns the numbers of the added examples."""
    start = len(examples)
    examples.extend(rows_of_examples)
    return np.arange(start, len(examples))


def document(parts):
    documents.append(parts)
    return len(documents) - 1


of_requests = add((one["words"], one["place"], ALL, one["place"]) for one in learnt if not one.get("story"))
of_stories = add((one["words"], one["place"], ALL, one["place"]) for one in learnt if one.get("story"))
# A tool explains itself: what it says it does against its name and parameters, and the other way round.
explained = [(place, parts) for place, parts in enumerate(documents) if len(parts[2]) >= 3 and parts[1]]
of_themselves = add((parts[2], place, NAMED, place) for place, parts in explained)
of_themselves = np.concatenate([of_themselves, add((parts[1], place, DESCRIBED, place) for place, parts in explained)])
of_pairs = add((pair["words"], document(pair["parts"]), ALL, -1) for pair in pairs)
of_glosses = add(
    (lemma, document([[], [], gloss["gloss"], [], []]), ALL, -1) for gloss in glosses for lemma in gloss["lemmas"][:2]
)
of_synonyms = add(
    (gloss["lemmas"][one], document([[], gloss["lemmas"][1 - one], [], [], []]), ALL, -1)
    for gloss in glosses
    if len(gloss["lemmas"]) > 1
    for one in (0, 1)
)

texts = torch.tensor(padded([text for text, _, _, _ in examples], REQUEST_WORDS))
document_of = torch.tensor([number for _, number, _, _ in examples])
seen_parts = torch.tensor([parts for _, _, parts, _ in examples], dtype=torch.float32)
tool_of = torch.tensor([tool for _, _, _, tool in examples])
words_of = torch.tensor(document_table(documents))
part_of = torch.tensor([part for part, width in enumerate(MOST_WORDS.values()) for _ in range(width)])
in_part = F.one_hot(part_of, PARTS).float()

by_server = {}
for place, tool in enumerate(tools):
    by_server.setdefault(tool["server"], []).append(place)
siblings = torch.tensor([place for places in by_server.values() for place in places])
first_sibling, sibling_count = torch.zeros(TOOLS, dtype=torch.long), torch.zeros(TOOLS, dtype=torch.long)
start = 0
for places in by_server.values():
    first_sibling[places], sibling_count[places] = start, len(places)
    start += len(places)

frequency = np.zeros(len(vocabulary))
for tool in tools:
    for word in {word for part in tool["parts"] for word in part}:
        frequency[word] += 1
rarity = np.log(1 + TOOLS / (1 + frequency))
rarity /= rarity.max()
glove = np.fromfile(os.path.join(args.data, "glove.f32"), np.float32).reshape(-1, 100)
norms = np.linalg.norm(glove, axis=1, keepdims=True)
noise = np.random.default_rng(args.seed).normal(0, 1, (len(vocabulary), args.dimensions)).astype(np.float32)
begin = np.zeros((len(vocabulary) + 1, args.dimensions), np.float32)
begin[:-1, :100] = np.where(norms > 0, glove / np.maximum(norms, 1e-6), noise[:, :100] * 0.07)
begin[:-1, 100:] = noise[:, 100:] * 0.02
begin[:-1] *= rarity[:, None].astype(np.float32)

vectors = torch.nn.Parameter(torch.tensor(begin))
part_weights = torch.nn.Parameter(torch.tensor([0.4, 1.5, 1.0, 0.5, 0.5]))
optimizer = torch.optim.Adam(
    [{"params": [vectors], "lr": args.rate}, {"params": [part_weights], "lr": 1e-2}], betas=(0.9, 0.99)
)


def known(words, dropout):
    """1 for each word that counts, 0 for the others."""
    kept = (words != NO_WORD).float()
    return kept * (torch.rand(words.shape) >= dropout).float() if dropout > 0 else kept


def embed_texts(words, dropout=0.0):
    counts = known(words, dropout)
    if dropout > 0:
        # A short text keeps all of its words, and none loses all.
        whole = known(words, 0)
        counts = torch.where((whole.sum(1, keepdim=True) > 2) & (counts.sum(1, keepdim=True) > 0), counts, whole)
    return F.normalize(F.embedding_bag(words, vectors, per_sample_weights=counts, mode="sum"), dim=1, eps=1e-6)


def embed_documents(words, parts=None, dropout=0.0):
    counts = known(words, dropout)
    if parts is not None:
        counts = counts * parts[:, part_of]
    share = part_weights / (counts @ in_part).clamp(min=1).sqrt()
    weights = counts * share[:, part_of]
    return F.normalize(F.embedding_bag(words, vectors, per_sample_weights=weights, mode="sum"), dim=1, eps=1e-6)


def thinned(parts, is_tool):
    """Leaves parts out now and then, so that no part alone carries a tool; never all of them."""
    kept = (torch.rand(parts.shape) > 0.4).float()
    is_thin = (torch.rand(len(parts)) < args.part_dropout) & is_tool & (parts.sum(1) == PARTS) & (kept.sum(1) > 0)
    return torch.where(is_thin.unsqueeze(1), kept, parts)


def epoch_examples():
    some = np.random.permutation
    numbers = np.concatenate(
        [
            np.tile(of_requests, args.request_repeat),
            np.tile(of_stories, args.story_repeat),
            of_themselves,
            some(of_pairs)[: int(len(of_pairs) * args.pair_share)],
            some(of_glosses)[: args.glosses // 2],
            some(of_synonyms)[: args.glosses // 2],
        ]
    )
    return torch.tensor(some(numbers))


def held_out_figures():
    with torch.no_grad():
        all_tools = torch.cat([embed_documents(words_of[at : min(at + 2048, TOOLS)]) for at in range(0, TOOLS, 2048)])
        figures = {}
        for kind, these in held_out.items():
            if not these:
                continue
            scores = embed_texts(torch.tensor(padded([one["words"] for one in these], REQUEST_WORDS))) @ all_tools.T
            own = scores[torch.arange(len(these)), torch.tensor([one["place"] for one in these])]
            ranks = ((scores > own.unsqueeze(1)).sum(1) + 1).float()
            figures[kind] = {
                "count": len(these),
                "hit@1": round((ranks == 1).float().mean().item(), 4),
                "hit@10": round((ranks <= 10).float().mean().item(), 4),
                "mrr": round((1 / ranks).mean().item(), 4),
            }
        return figures


began = time.time()
print(json.dumps({"epoch": 0, **held_out_figures()}), flush=True)
total_steps = args.epochs * (len(epoch_examples()) // args.batch)
step = 0
for epoch in range(1, args.epochs + 1):
    numbers = epoch_examples()
    losses = []
    for at in range(0, len(numbers) - args.batch + 1, args.batch):
        batch = numbers[at : at + args.batch]
        about = tool_of[batch]
        is_tool = about >= 0
        own = about[is_tool]
        beside = siblings[first_sibling[own] + (torch.rand(len(own)) * sibling_count[own]).long()]
        optimizer.param_groups[0]["lr"] = args.rate * min(1, step / 50) * (1 - step / total_steps)
        queries = embed_texts(texts[batch], args.word_dropout)
        targets = embed_documents(words_of[document_of[batch]], thinned(seen_parts[batch], is_tool), args.word_dropout)
        others = embed_documents(words_of[beside], None, args.word_dropout)
        scores = queries @ torch.cat([targets, others]).T / args.temperature
        # The same tool elsewhere in the batch is no wrong answer.
        same = (about.unsqueeze(1) == torch.cat([about, beside]).unsqueeze(0)) & is_tool.unsqueeze(1)
        right = torch.arange(len(batch))
        same[right, right] = False
        loss = F.cross_entropy(scores.masked_fill(same, -1e4), right)
        optimizer.zero_grad()
        loss.backward()
        vectors.grad[NO_WORD] = 0
        optimizer.step()
        losses.append(loss.item())
        step += 1
    seconds = round(time.time() - began)
    print(json.dumps({"epoch": epoch, "loss": round(float(np.mean(losses)), 4), "seconds": seconds, **held_out_figures()}), flush=True)

os.makedirs(args.out, exist_ok=True)
vectors[:NO_WORD].detach().cpu().numpy().tofile(os.path.join(args.out, "vectors.f32"))
with open(os.path.join(args.out, "parts.json"), "w") as file:
    json.dump([round(weight, 4) for weight in part_weights.tolist()], file)
with open(os.path.join(args.out, "training.json"), "w") as file:
    json.dump({"arguments": vars(args), "held_out": held_out_figures()}, file, indent=2)
