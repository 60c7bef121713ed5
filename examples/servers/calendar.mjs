/**
 * Sample MCP server: two calendars kept in memory, with a fixed sample week (Monday 16 November 2026).
 * Speaks MCP on stdio. Times are local and written as 2026-11-16T09:30.
 * @module
 */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const CALENDARS = ['work', 'private'];
const events = new Map();
let lastId = 0;

const addEvent = (event) => {
  lastId += 1;
  const stored = { id: `event-${lastId}`, ...event };
  events.set(stored.id, stored);
  return stored;
};
const seed = (calendar, title, start, end, attendees = []) => addEvent({ calendar, title, start, end, attendees });
seed('work', 'Stand-up', '2026-11-16T09:00', '2026-11-16T09:15', ['team@example.com']);
seed('work', 'Roadmap review', '2026-11-16T14:00', '2026-11-16T15:30', ['ana@example.com', 'li@example.com']);
seed('private', 'Dentist', '2026-11-17T08:30', '2026-11-17T09:15');
seed('work', 'Interview: platform engineer', '2026-11-18T11:00', '2026-11-18T12:00', ['hr@example.com']);
seed('private', 'Choir', '2026-11-19T19:00', '2026-11-19T21:00');

const answer = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const refuse = (message) => ({ content: [{ type: 'text', text: message }], isError: true });
const missing = (id) => refuse(`There is no event "${id}". Use list_events to see the ids.`);

const byStart = (a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0);
const overlapping = (start, end) =>
  [...events.values()].filter((event) => event.start < end && start < event.end).sort(byStart);
const minutes = (time) => Date.parse(`${time}:00Z`) / 60_000;
const clock = (value) => new Date(value * 60_000).toISOString().slice(0, 16);

const time = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/)
  .describe('Local date and time, for example 2026-11-16T09:30');
const day = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/)
  .describe('A date, for example 2026-11-16');
const calendar = z.enum(CALENDARS);
const eventId = z.string().describe('The id of the event, for example event-1');
const readOnly = { readOnlyHint: true, openWorldHint: false };

/** Builds one server; the events are shared by all of them. */
const build = () => {
  const server = new McpServer(
    { name: 'calendar', title: 'Calendar', version: '1.0.0' },
    { instructions: 'A work and a private calendar. Use find_free_time before you propose a meeting.' },
  );

  server.registerTool(
    'list_calendars',
    {
      description: 'List the calendars and how many events each holds.',
      inputSchema: z.object({}),
      annotations: readOnly,
    },
    async () =>
      answer(
        CALENDARS.map((name) => ({
          name,
          events: [...events.values()].filter((event) => event.calendar === name).length,
        })),
      ),
  );

  server.registerTool(
    'list_events',
    {
      description: 'List the events of a day or of a range of days, in order of time.',
      inputSchema: z.object({
        from: day,
        to: day.optional().describe('Last day, same as from if left out'),
        calendar: calendar.optional(),
      }),
      annotations: readOnly,
    },
    async ({ from, to = from, calendar: only }) =>
      answer(
        overlapping(`${from}T00:00`, `${to}T24:00`).filter((event) => only === undefined || event.calendar === only),
      ),
  );

  server.registerTool(
    'get_event',
    {
      description: 'Show one event with its attendees.',
      inputSchema: z.object({ id: eventId }),
      annotations: readOnly,
    },
    async ({ id }) => (events.has(id) ? answer(events.get(id)) : missing(id)),
  );

  server.registerTool(
    'create_event',
    {
      description: 'Schedule a meeting or an appointment. Does not check for conflicts; use check_conflicts for that.',
      inputSchema: z.object({
        title: z.string().min(1),
        start: time,
        end: time,
        calendar: calendar.default('work'),
        attendees: z.array(z.email()).default([]).describe('E-mail addresses of the people to invite'),
      }),
    },
    async (event) =>
      event.start < event.end ? answer(addEvent(event)) : refuse('The event must end after it starts.'),
  );

  server.registerTool(
    'move_event',
    {
      description: 'Reschedule an event to another start time. Its length stays the same.',
      inputSchema: z.object({ id: eventId, start: time }),
      annotations: { idempotentHint: true },
    },
    async ({ id, start }) => {
      const event = events.get(id);
      if (!event) return missing(id);
      const length = minutes(event.end) - minutes(event.start);
      Object.assign(event, { start, end: clock(minutes(start) + length) });
      return answer(event);
    },
  );

  server.registerTool(
    'cancel_event',
    {
      description: 'Cancel an event and remove it from the calendar.',
      inputSchema: z.object({ id: eventId }),
      annotations: { destructiveHint: true },
    },
    async ({ id }) => (events.delete(id) ? answer({ cancelled: id }) : missing(id)),
  );

  server.registerTool(
    'invite_attendee',
    {
      description: 'Invite one more person to an event by e-mail address.',
      inputSchema: z.object({ id: eventId, email: z.email() }),
      annotations: { idempotentHint: true },
    },
    async ({ id, email }) => {
      const event = events.get(id);
      if (!event) return missing(id);
      event.attendees = [...new Set([...event.attendees, email])];
      return answer(event);
    },
  );

  server.registerTool(
    'check_conflicts',
    {
      description: 'Tell which events overlap a time span, in any calendar.',
      inputSchema: z.object({ start: time, end: time }),
      annotations: readOnly,
    },
    async ({ start, end }) => answer(overlapping(start, end)),
  );

  server.registerTool(
    'find_free_time',
    {
      description: 'Find free slots of at least the given length on one day, within working hours.',
      inputSchema: z.object({
        day,
        minutes: z.int().min(5).max(480).default(30).describe('Length of the slot in minutes'),
        from: z.string().default('09:00').describe('Start of the working day'),
        until: z.string().default('17:00').describe('End of the working day'),
      }),
      annotations: readOnly,
    },
    async ({ day: date, minutes: length, from, until }) => {
      const slots = [];
      let free = `${date}T${from}`;
      const close = `${date}T${until}`;
      for (const event of [...overlapping(free, close), { start: close, end: close }]) {
        if (minutes(event.start) - minutes(free) >= length) slots.push({ start: free, end: event.start });
        if (event.end > free) free = event.end;
      }
      return answer(slots);
    },
  );

  return server;
};

serveStdio(build);
