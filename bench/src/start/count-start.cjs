// Preloaded by a process. At its exit, writes to the third descriptor what it has done since its start.
const { writeSync } = require('node:fs');

// Each subject needs modules of Node, whose loading is not its own.
for (const name of ['async_hooks', 'crypto', 'diagnostics_channel', 'events', 'http', 'net', 'perf_hooks', 'url']) {
  require(`node:${name}`);
}
const before = { cpu: process.cpuUsage(), files: Object.keys(require.cache).length, rss: process.memoryUsage.rss() };

process.on('exit', () => {
  const { user, system } = process.cpuUsage(before.cpu);
  const files = Object.keys(require.cache).length - before.files;
  const rssMb = (process.memoryUsage.rss() - before.rss) / 1e6;
  writeSync(3, JSON.stringify({ cpuMs: (user + system) / 1000, files, rssMb }));
});
