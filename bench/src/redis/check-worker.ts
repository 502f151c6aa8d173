import { Redis } from 'ioredis';
import { handleTasks } from '../worker.js';
import { type CheckTask, runChecks } from './check-loop.js';
import { createRedisSubject, type InRedis, type RedisSubject, type SubjectSettings } from './subjects.js';

export type SubjectTask = CheckTask & { readonly settings: SubjectSettings };

const [name, url] = process.argv.slice(2) as [InRedis, string];
const client = new Redis(url);
const subjects = new Map<string, RedisSubject>();

handleTasks(async ({ settings, ...task }: SubjectTask) => {
  const id = JSON.stringify(settings);
  const subject = subjects.get(id) ?? (await createRedisSubject(name, client, settings));
  subjects.set(id, subject);
  return runChecks(subject, task);
});
