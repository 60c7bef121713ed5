/** Checks the files in deploy/ against the program: its options, its routes, its metrics. Uses the build. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { get } from 'node:http';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { RawGateway } from './e2e/raw-gateway.ts';
import { BIN, Sandbox, until } from './e2e/sandbox.ts';
import { entry, fixture } from './e2e/servers.ts';
import { root } from './fixtures/cli.ts';
import { renderChart } from './fixtures/deploy/render-chart.ts';
import { evil } from './fixtures/evil.ts';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** A loaded machine starts a gateway in this time, in ms. */
const LOADED = 30_000;

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}
const rules: readonly Rule[] = parse(read('deploy/prometheus/alerts.yaml')).groups.flatMap(
  ({ rules: own }: { rules: Rule[] }) => own,
);

describe('the numbers that', () => {
  /** The words of PromQL that the files use. */
  const PROMQL =
    /^(?:and|by|changes|count|deriv|histogram_quantile|increase|label_values|max|rate|resets|sum|up|instance|server|version)$/;
  /** What Prometheus adds to each series. */
  const ADDED = ['instance', 'job'];

  /** Metrics and their labels in the text that a gateway serves. */
  async function served(): Promise<Map<string, Set<string>>> {
    await using sandbox = new Sandbox();
    using dying = evil({
      tools: [{ name: 'x', inputSchema: { type: 'object' } }],
      on: [{ method: 'tools/call', do: [{ kill: 'SIGKILL' }] }],
    });
    const config = sandbox.write({
      limits: { breaker: { failures: 1 } },
      servers: [
        // Known before it ran, so that the call opens the connection.
        entry('echo', [fixture('telemetry/meta.mjs')], { tools: [{ name: 'meta', inputSchema: { type: 'object' } }] }),
        { name: 'dying', connection: { type: 'stdio', command: dying.command, args: dying.args } },
      ],
    });
    const gateway = new RawGateway(sandbox, config, '--metrics', '0');
    await gateway.initialize();
    await gateway.request('tools/call', RawGateway.execute('echo', 'meta'));
    await gateway.request('tools/call', RawGateway.execute('dying', 'x'));
    const said = () => /http:\S+\/metrics/.exec(gateway.stderr);
    const [url = ''] = await until('the address is said', said, LOADED);
    const text = await (await fetch(url)).text();
    const families = new Map([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => [name, new Set<string>()]));
    for (const [, name = '', labels = ''] of text.matchAll(/^([a-z_0-9]+)(?:\{(.*)\})? \S+$/gm)) {
      const known = families.get(name) ?? new Set();
      for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
      families.set(name, known);
    }
    return families;
  }

  /** Every metric and label in a query that is not served. */
  function unknownIn(query: string, families: Map<string, Set<string>>): string[] {
    const plain = query.replace(/"[^"]*"/g, '""').replace(/\[[^\]]*\]/g, '');
    const metrics = [...plain.matchAll(/\b([a-z]\w*)(?:\{([^}]*)\})?/g)].filter(([, name = '']) => families.has(name));
    const own = new Set([...ADDED, ...metrics.flatMap(([, name = '']) => [...(families.get(name) ?? [])])]);
    const matched = metrics.flatMap(([, name = '', matchers = '']) =>
      [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].flatMap(([, label = '']) =>
        ADDED.includes(label) || families.get(name)?.has(label) ? [] : [`${name}{${label}}`],
      ),
    );
    const grouped = [...plain.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) =>
      labels.split(/,\s*/).filter((label) => !own.has(label)),
    );
    const words = plain
      .replace(/\bup\{[^}]*\}|\{[^}]*\}|\bby \([^)]*\)/g, ' ')
      .split(/[^\w:]+/)
      .filter((word) => /^[a-z]/i.test(word) && !PROMQL.test(word) && !families.has(word));
    return [...matched, ...grouped, ...words];
  }

  it('the alert rules and the dashboard use are served, with these labels', async () => {
    const families = await served();
    expect(families.get('anygpt_breaker_open')).toEqual(new Set(['server']));
    expect(unknownIn('sum by (tool) (rate(made_up{a="b"}[5m])) / anygpt_calls_total{tool="x"}', families)).toEqual([
      'anygpt_calls_total{tool}',
      'tool',
      'made_up',
    ]);
    const problems: Record<string, string[]> = {};
    for (const { alert, expr } of rules) problems[alert] = unknownIn(expr, families);
    const { panels, templating, annotations } = JSON.parse(read('deploy/grafana/dashboard.json'));
    for (const { title, targets = [] } of panels)
      problems[title] = targets.flatMap(({ expr }: { expr: string }) => unknownIn(expr, families));
    for (const { name, type, query } of templating.list)
      if (type === 'query') problems[`variable ${name}`] = unknownIn(query.query, families);
    for (const { name, expr } of annotations.list) problems[`annotation ${name}`] = unknownIn(expr, families);
    expect(Object.entries(problems).filter(([, unknown]) => unknown.length > 0)).toEqual([]);
    expect(rules.length).toBeGreaterThan(10);
    expect(panels.length).toBeGreaterThan(20);
  });

  it('alerts are explained in docs/operations.md, one section each and in the same order', () => {
    const sections = [...read('docs/operations.md').matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(rules.map(({ alert }) => alert));
  });

  it('an alert says are in its query', () => {
    for (const { alert, expr, annotations } of rules)
      for (const [, label = ''] of (annotations.summary ?? '').matchAll(/\$labels\.(\w+)/g))
        expect(label === 'instance' || expr.includes(label), `${alert}: ${label}`).toBe(true);
  });
});

/** A command line of a file, for this machine: on any free port, with a configuration of its own. */
function local(words: readonly string[], config: string): string[] {
  const at = words.indexOf('serve');
  const flags: Record<string, string> = { '--config': config, '--metrics': '0' };
  const given = words.slice(at + 1).map((word, index, all) => flags[all[index - 1] ?? ''] ?? word);
  const port = given[given.indexOf('--http') + 1];
  if (port !== undefined && /^\d+$/.test(port)) given[given.indexOf('--http') + 1] = '0';
  return ['mcp', 'serve', ...given, ...(given.includes('--http') ? ['--port', '0'] : [])];
}

/** Starts a gateway and returns its address. */
async function listening(child: ChildProcess): Promise<string> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const [, port = ''] = await until(
    () => `listening; it said: ${said}`,
    () => /listening on http:\/\/\S+?:(\d+)\/mcp/.exec(said),
    LOADED,
  );
  return `http://127.0.0.1:${port}`;
}

/** The status of a GET with a Host header, as a probe sends it. */
const statusOf = (url: string, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { host } }, (answer) => resolve(answer.resume().statusCode)).on('error', reject);
  });

describe('the Helm chart', () => {
  const FOLDER = join(root, 'deploy/helm');
  const chart = (change?: Parameters<typeof renderChart>[1]) =>
    Object.fromEntries(
      Object.values(renderChart(FOLDER, change)).flatMap((text) => {
        const document = parse(text);
        return document ? [[document.kind, document]] : [];
      }),
    );

  it('renders what a gateway needs, and no more than is wanted', () => {
    expect(Object.keys(chart()).sort()).toEqual([
      'ConfigMap',
      'Deployment',
      'HorizontalPodAutoscaler',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Service',
      'ServiceAccount',
    ]);
    const less = chart((values) => {
      Object.assign(values.autoscaling as object, { enabled: false });
      Object.assign(values.networkPolicy as object, { enabled: false });
      Object.assign(values.ingress as object, { enabled: true });
      values.env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel:4318' };
    });
    expect(Object.keys(less).sort()).toEqual(
      ['ConfigMap', 'Deployment', 'Ingress', 'PodDisruptionBudget', 'Service', 'ServiceAccount'].sort(),
    );
    expect(less.Deployment.spec.replicas).toBe(2);
    const [{ env }] = less.Deployment.spec.template.spec.containers;
    expect(env).toContainEqual({ name: 'OTEL_EXPORTER_OTLP_ENDPOINT', value: 'http://otel:4318' });
  });

  it('leaves a pod time to leave the service and to finish calls, and no rights', () => {
    const { spec } = chart().Deployment.spec.template;
    const [{ lifecycle, securityContext, volumeMounts }] = spec.containers;
    const [, before] = lifecycle.preStop.exec.command;
    // Ten seconds for calls, and the timeout of a whole shutdown.
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(Number(before) + 10 + 15);
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(securityContext).toMatchObject({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true });
    expect(volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)).toEqual([
      '/etc/anygpt',
      '/data',
      '/tmp',
    ]);
  });

  it('starts the program with options that it has, and its probes are answered', async () => {
    await using sandbox = new Sandbox();
    const { ConfigMap, Deployment, Service } = chart();
    const config = join(sandbox.folder, 'gateway.json');
    writeFileSync(config, ConfigMap.data['gateway.json']);
    const [{ args, startupProbe, readinessProbe, livenessProbe, ports }] = Deployment.spec.template.spec.containers;
    const child = spawn(process.execPath, [BIN, ...local(args, config)], { env: sandbox.env, cwd: sandbox.folder });
    sandbox.closeLater(async () => child.kill() && (await once(child, 'exit')));
    const url = await listening(child);
    // The kubelet asks by the address of the pod.
    for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe])
      expect(await statusOf(`${url}${httpGet.path}`, new URL(url).host)).toBe(200);
    expect(await statusOf(`${url}/mcp`, 'tools.example.com')).toBe(401);
    const names = ports.map(({ name }: { name: string }) => name);
    for (const { targetPort } of Service.spec.ports) expect(names).toContain(targetPort);
  });
});

describe('the image', () => {
  const dockerfile = read('deploy/Dockerfile').replaceAll('\\\n', '');
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
  const wordsOf = (instruction: string): string[] =>
    JSON.parse(new RegExp(`^${instruction}.*?(\\[.*\\])$`, 'm').exec(last)?.[1] ?? '[]');

  it('holds what the programs load from outside their bundle', () => {
    const [, list = ''] = /^ {2}external: \[(.*)\]/m.exec(read('scripts/build.mjs')) ?? [];
    const outside = [...list.matchAll(/'([^']+)'/g)].map(([, name = '']) => name);
    const copied = [...last.matchAll(/ (node_modules\/\S+)$/gm)].map(([, path = '']) => path.slice(13));
    expect(copied.sort()).toEqual(outside.sort());
  });

  it('runs on stdio and over HTTP as a user without rights, and its health check sees both', async () => {
    await using sandbox = new Sandbox();
    // As the Dockerfile lays it out. Only the home can be written, if this test may choose a user.
    const app = join(sandbox.folder, 'app');
    for (const [, from = '', to = ''] of last.matchAll(/^COPY --from=build (.+) (\S+)$/gm))
      for (const path of from.split(' ')) {
        const source = path.replace('/src/', '');
        const place = to === './' ? join(app, source.split('/').at(-1) ?? '') : join(app, to);
        mkdirSync(dirname(place), { recursive: true });
        cpSync(join(root, source), place, { recursive: true });
      }
    const home = join(sandbox.folder, 'data');
    mkdirSync(home);
    chmodSync(sandbox.folder, 0o755);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(home, 1000, 1000);
    const as = isRoot ? { uid: 1000, gid: 1000 } : {};
    const env = { PATH: process.env.PATH, HOME: home };
    const start = (words: readonly string[]) => {
      const [program = '', ...rest] = words;
      expect(program).toBe('anygpt');
      const child = spawn(process.execPath, [join(app, 'dist/bin/anygpt.js'), ...rest], { env, cwd: home, ...as });
      sandbox.closeLater(async () => child.exitCode ?? (child.kill('SIGKILL') && (await once(child, 'exit'))));
      return child;
    };
    /** Runs the health check as if these were all processes of the container. */
    const health = async (...processes: { pid?: number | undefined; cmdline?: string }[]) => {
      const proc = join(sandbox.folder, `proc-${Math.random()}`);
      mkdirSync(proc);
      for (const { pid, cmdline } of processes)
        if (cmdline === undefined) symlinkSync(`/proc/${pid}`, join(proc, String(pid)));
        else {
          mkdirSync(join(proc, '1'));
          writeFileSync(join(proc, '1/cmdline'), cmdline);
        }
      const [, script = ''] = wordsOf('HEALTHCHECK');
      const check = spawn(process.execPath, [script.replace('/app', app), proc], { env, ...as });
      const [code] = await once(check, 'exit');
      return code;
    };
    expect(wordsOf('ENTRYPOINT')).toEqual(['tini', '--']);
    expect(wordsOf('HEALTHCHECK').at(-1)).toBe('/proc');

    const stdio = start(wordsOf('CMD'));
    let heard = '';
    stdio.stdout.setEncoding('utf8').on('data', (text) => {
      heard += text;
    });
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    stdio.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    await until('it greets', () => heard.includes('"serverInfo"'), LOADED);
    if (process.platform === 'linux') expect(await health({ cmdline: 'tini\0--' }, stdio)).toBe(0);
    stdio.stdin.end();
    expect(await once(stdio, 'exit')).toEqual([0, null]);
    expect(await health({ cmdline: 'tini\0--' })).toBe(1);

    const token = start(['anygpt', 'mcp', 'token', 'create', '--name', 'ci']);
    expect(await once(token, 'exit')).toEqual([0, null]);
    const [, , command = ''] = dockerfile.match(/publish 8080:8080 (\S+) (.+)$/m) ?? [];
    const http = start(['anygpt', ...local(command.split(' '), join(home, 'none.json'))]);
    const url = await listening(http);
    const running = ['anygpt', 'mcp', 'serve', '--http', '--port', new URL(url).port].join('\0');
    expect(await health({ cmdline: running })).toBe(0);
    const exited = once(http, 'exit');
    http.kill('SIGTERM');
    await exited;
    expect(await health({ cmdline: running })).toBe(1);
  });

  it('can be built with `npm ci`: the lock file has the optional packages of every platform', () => {
    const { packages }: { packages: Readonly<Record<string, { optionalDependencies?: object }>> } = JSON.parse(
      read('package-lock.json'),
    );
    const named = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).map((name) => ({ path, name })),
    );
    const missing = named.filter(
      ({ path, name }) => !packages[`${path}/node_modules/${name}`] && !packages[`node_modules/${name}`],
    );
    expect(dockerfile).toContain('npm ci ');
    expect(missing).toEqual([]);
  });

  it('has no more in its build than the Dockerfile copies from it', () => {
    const kept = read('.dockerignore')
      .split('\n')
      .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
    for (const file of kept) expect(readdirSync(join(root, dirname(file)))).toContain(file.split('/').at(-1));
    const used = [...last.matchAll(/\/src\/(?!dist|node_modules)(\S+)/g)].map(([, path = '']) => path);
    expect(used.filter((path) => !kept.includes(path))).toEqual([]);
  });
});

describe('the files of compose and systemd', () => {
  it('start the program with options that it has, and a configuration that it accepts', async () => {
    await using sandbox = new Sandbox();
    const { services } = parse(read('deploy/compose/compose.yaml'));
    const unit = read('deploy/systemd/anygpt-gateway.service');
    const execStart = /^ExecStart=\/usr\/bin\/env (.*)$/m.exec(unit)?.[1]?.split(' ') ?? [];
    const config = join(root, 'deploy/compose/gateway.json');
    for (const words of [services.gateway.command, execStart]) {
      const child = spawn(process.execPath, [BIN, ...local(words, config)], { env: sandbox.env, cwd: sandbox.folder });
      sandbox.closeLater(async () => child.kill() && (await once(child, 'exit')));
      const url = await listening(child);
      expect(await statusOf(`${url}/readyz`, new URL(url).host)).toBe(200);
    }
    const mounted = Object.values<{ volumes?: string[] }>(services)
      .flatMap(({ volumes = [] }) => volumes)
      .filter((volume) => volume.startsWith('./'));
    for (const [file = ''] of mounted.map((volume) => volume.split(':')))
      expect(readdirSync(join(root, 'deploy/compose'))).toContain(file.replace('./', ''));
    const nginx = read('deploy/compose/nginx.conf');
    for (const [, name = ''] of nginx.matchAll(/^\s+server (\w+):\d+/gm)) expect(Object.keys(services)).toContain(name);
    expect(JSON.parse(read('deploy/compose/realm.json')).realm).toBe('tools');
  });
});
