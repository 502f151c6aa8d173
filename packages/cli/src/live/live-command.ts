import { Command } from 'commander';
import { listOf } from '../usage.js';

/** Creates a command that asks a store. */
export function liveCommand(name: string): Command {
  return new Command(name)
    .argument('<url>', 'redis://…, postgres://…, a file of SQLite, or env:NAME for the URL in an environment variable')
    .option('--limiter <names>', 'only limiters with these names', listOf(String))
    .option('--table <name>', 'table of the limits in PostgreSQL or SQLite')
    .option('--key-prefix <text>', 'keyPrefix of the Redis client in your app')
    .option('--cluster', 'the URL is that of a node of a Redis Cluster')
    .option('--json', 'print JSON');
}
