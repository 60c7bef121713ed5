/**
 * `anygpt mcp registry sync`: copies the registries to disk.
 * @module
 */
import type { SyncReport } from '../../mcp-registry/sync-registry.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { withRegistries } from '../open-registries.ts';
import { exactly } from '../positionals.ts';
import { UsageError } from '../usage-error.ts';

export const syncRegistries: Command['run'] = async (values, positionals, io) => {
  exactly(positionals);
  if (values.offline) throw new UsageError('--offline cannot be combined with sync');
  return withRegistries(values, io, async (session) => {
    const { registries, signal, onProgress } = session;
    const { reports, failures } = await registries.sync({ full: values.full === true, signal, onProgress });
    session.progress.clear();
    const [first] = failures;
    if (first !== undefined && reports.length === 0) return session.fail(first.toInfo());
    const notes = failures.map(({ message }) => message);
    if (session.json)
      session.printJson({ success: notes.length === 0, registries: reports, ...(notes.length > 0 && { notes }) });
    else {
      for (const report of reports) session.print(session.block(reportText(report)));
      for (const report of reports) for (const reason of report.reasons) session.note(`left out: ${reason}`);
      for (const note of notes) session.note(note);
    }
    return notes.length === 0 ? EXIT.ok : EXIT.failed;
  });
};

function reportText({ registry, total, added, changed, removed, skipped, full }: SyncReport): string {
  const news = [
    added > 0 && `${added.toLocaleString('en')} new`,
    !full && changed > 0 && `${changed.toLocaleString('en')} changed`,
    removed > 0 && `${removed.toLocaleString('en')} removed`,
    skipped > 0 && `${skipped.toLocaleString('en')} left out`,
  ].filter(Boolean);
  return `${registry}: ${total.toLocaleString('en')} servers (${news.join(', ') || 'nothing new'})`;
}
