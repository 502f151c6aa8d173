import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const EXAMPLES = join(__dirname, '..');
const read = (file: string) => readFileSync(join(EXAMPLES, file), 'utf8');
const metricsIn = (text: string) => new Set(text.match(/\brollgate_\w+\b/g));

const sources = read('metrics-prometheus.ts') + read('metrics-outgoing.ts');
/** The metrics that the examples register. */
const published = new Set(Array.from(sources.matchAll(/^ {2}name: '(\w+)'/gm), ([, name]) => name!));
/** The names that a query may use. Prometheus adds a suffix to the buckets of a histogram. */
const queried = new Set([...published, 'rollgate_api_wait_seconds_bucket']);

test.each(['monitoring/alerts.yml', 'monitoring/grafana-dashboard.json'])('%s uses published metrics', (file) => {
  const unknown = [...metricsIn(read(file))].filter((name) => !queried.has(name));
  expect(unknown).toEqual([]);
  expect(metricsIn(read(file)).size).toBeGreaterThan(2);
});

test('the page lists each metric, and its table has each alert', () => {
  const page = readFileSync(join(EXAMPLES, '../docs/observe.md'), 'utf8');
  const listed = Array.from(page.matchAll(/^\| `(rollgate_\w+)`/gm), ([, name]) => name!);
  expect(listed.sort()).toEqual([...published].sort());
  const alerts = Array.from(read('monitoring/alerts.yml').matchAll(/- alert: (\w+)/g), ([, name]) => name!);
  const described = Array.from(page.matchAll(/^\| `(Rollgate\w+)`/gm), ([, name]) => name!);
  expect(described.sort()).toEqual(alerts.sort());
});

test('the labels in the queries are those of the decisions', () => {
  const outcomes = [read('monitoring/alerts.yml'), read('monitoring/grafana-dashboard.json')].flatMap((text) =>
    Array.from(text.matchAll(/outcome=\\?"(\w+)\\?"/g), ([, outcome]) => outcome!),
  );
  for (const outcome of new Set(outcomes)) expect(sources).toContain(`'${outcome}'`);
});
