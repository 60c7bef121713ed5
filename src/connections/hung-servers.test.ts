import { describe, expect, it } from 'vitest';
import { HungServers, type Patient, type Pulse } from './hung-servers.ts';

const CALL_IDLE_MS = 4000;

/** A connection whose pulse is set by hand, looked at every second. */
function world(pulse: Partial<Pulse> = {}) {
  const hung = new HungServers();
  const state = { received: 1, isWaiting: true, patientUntil: 0, ...pulse };
  let pings = 0;
  let now = 0;
  const patient: Patient = {
    closed: false,
    get pulse() {
      return { ...state };
    },
    ping: async () => void pings++,
    close: async () => {},
  };
  const look = (seconds: number, step = 1000) => {
    let found: number | undefined;
    for (let n = 0; n < seconds && found === undefined; n++) {
      now += step;
      found = hung.look(patient, now, CALL_IDLE_MS);
    }
    return found;
  };
  return { hung, state, patient, look, pings: () => pings, now: () => now };
}

describe('a server', () => {
  it('hangs when it has been silent for longer than a call may be, with a ping under way', () => {
    const { look, pings } = world();
    expect(look(60)).toBeGreaterThanOrEqual(6);
    expect(pings()).toBe(1);
  });

  it('does not hang while it sends anything, or while no caller waits', () => {
    const busy = world();
    for (let n = 0; n < 100; n++) {
      expect(busy.look(3)).toBeUndefined();
      busy.state.received++;
    }
    const idle = world({ isWaiting: false });
    expect(idle.look(1000)).toBeUndefined();
    expect(idle.pings()).toBe(0);
  });

  it('does not hang while a caller waits for it on purpose', () => {
    const { look } = world({ patientUntil: 100_000 });
    expect(look(99)).toBeUndefined();
    expect(look(2)).toBeDefined();
  });

  it('does not hang because we were stopped ourselves', () => {
    const { look, state } = world();
    expect(look(3)).toBeUndefined();
    expect(look(1, 3_600_000)).toBeUndefined();
    state.received++;
    expect(look(3)).toBeUndefined();
  });

  it('is pinged after a call was given up, even if no caller waits any more', () => {
    const { hung, patient, look, pings, now } = world();
    hung.suspect(patient, now());
    hung.suspect(patient, now());
    expect(pings()).toBe(1);
    expect(look(60)).toBeDefined();
    expect(pings()).toBe(1);
  });
});
