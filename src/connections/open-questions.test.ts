import { describe, expect, it } from 'vitest';
import { JsonRpcError } from './json-rpc.ts';
import { OpenQuestions } from './open-questions.ts';

/** A clock that knows how often it was stopped. */
const clock = () => {
  let pauses = 0;
  return { pause: () => void pauses++, resume: () => void pauses--, pauses: () => pauses };
};

/** A request that ends when told to. */
function exchange(questions: OpenQuestions) {
  const idle = clock();
  let end: (how: 'answered' | 'refused' | 'lost') => void = () => {};
  const answer = new Promise<string>((resolve, reject) => {
    end = (how) => {
      if (how === 'answered') resolve('result');
      else reject(how === 'refused' ? new JsonRpcError(-32603, 'no') : new Error('lost'));
    };
  });
  const settled = questions.during(answer, idle).catch((error: Error) => error.message);
  return {
    pauses: idle.pauses,
    end: (how: Parameters<typeof end>[0]) => {
      end(how);
      return settled;
    },
  };
}

/** A question that is answered when told to. */
function question(questions: OpenQuestions) {
  const { signal, ...server } = withdrawable();
  let answer: (answer: Record<string, unknown>) => void = () => {};
  let withdrawn = false;
  const put = questions.put(
    (_request, stop) => {
      stop?.addEventListener('abort', () => {
        withdrawn = true;
      });
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
    { method: 'elicitation/create', params: {}, signal },
  );
  const settled = put.catch((error: Error) => error.message);
  return {
    settled,
    server,
    withdrawn: () => withdrawn,
    answer: () => {
      answer({ action: 'accept' });
      return settled;
    },
  };
}

const withdrawable = () => {
  const controller = new AbortController();
  return { signal: controller.signal, withdraw: () => controller.abort(new Error('never mind')) };
};

describe('an open question', () => {
  it('stops the clocks of the requests in flight, not of later ones, until it is answered', async () => {
    const questions = new OpenQuestions();
    const first = exchange(questions);
    const one = question(questions);
    const second = exchange(questions);
    const two = question(questions);
    expect([first.pauses(), second.pauses()]).toEqual([2, 1]);
    expect(await one.answer()).toEqual({ action: 'accept' });
    expect([first.pauses(), second.pauses()]).toEqual([1, 1]);
    await second.end('answered');
    await two.answer();
    expect([first.pauses(), second.pauses()]).toEqual([0, 0]);
    expect(await first.end('answered')).toBe('result');
  });

  it('is withdrawn when the last request it can belong to is lost', async () => {
    const questions = new OpenQuestions();
    const [first, second] = [exchange(questions), exchange(questions)];
    const one = question(questions);
    const later = exchange(questions);
    await first.end('lost');
    expect(one.withdrawn()).toBe(false);
    await second.end('lost');
    expect(one.withdrawn()).toBe(true);
    expect(await one.settled).toBe('The call this was asked for is over.');
    expect([first, second, later].map(({ pauses }) => pauses())).toEqual([0, 0, 0]);
  });

  it.each(['answered', 'refused'] as const)('stays when the last request it can belong to was %s', async (how) => {
    const questions = new OpenQuestions();
    const lost = exchange(questions);
    const last = exchange(questions);
    const one = question(questions);
    await lost.end('lost');
    await last.end(how);
    await exchange(questions).end('lost');
    expect(one.withdrawn()).toBe(false);
    expect(await one.answer()).toEqual({ action: 'accept' });
  });

  it('is withdrawn when the server takes it back', async () => {
    const questions = new OpenQuestions();
    const { pauses } = exchange(questions);
    const one = question(questions);
    one.server.withdraw();
    expect(await one.settled).toBe('never mind');
    expect([one.withdrawn(), pauses()]).toEqual([true, 0]);
  });

  it('that cannot be asked starts the clocks again', async () => {
    const questions = new OpenQuestions();
    const { pauses } = exchange(questions);
    const { signal } = withdrawable();
    const refuse = () => {
      throw new Error('no');
    };
    await expect(questions.put(refuse, { method: 'x', params: {}, signal })).rejects.toThrow('no');
    expect(pauses()).toBe(0);
  });
});
