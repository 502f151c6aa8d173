import { Redis } from 'ioredis';
import { answer } from '../worker.js';
import { type CheckQuestion, runChecks } from './check-loop.js';
import { createRedisSubject, type RedisSubjectName } from './subjects.js';

const [name, url, limitText] = process.argv.slice(2) as [RedisSubjectName, string, string];
const subject = await createRedisSubject(name, new Redis(url), Number(limitText));

answer((question: CheckQuestion) => runChecks(subject, question));
