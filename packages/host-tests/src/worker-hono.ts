import { cloudflareAddress } from '@rollgate/hono';
import { createHono } from './hosts/hono-app.js';

export default createHono(cloudflareAddress);
