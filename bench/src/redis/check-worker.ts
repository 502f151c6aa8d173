import { Redis } from 'ioredis';
import { handleTasks } from '../worker.js';
import { type CheckTask, runChecks } from './check-loop.js';
import { createRedisSubject, type RedisSubjectName } from './subjects.js';

const [name, url, limitText] = process.argv.slice(2) as [RedisSubjectName, string, string];
const subject = await createRedisSubject(name, new Redis(url), Number(limitText));

handleTasks((task: CheckTask) => runChecks(subject, task));
