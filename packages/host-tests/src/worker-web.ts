import { cloudflareAddress } from '@rollgate/web';
import { createWeb } from './hosts/web-app.js';

export default { fetch: createWeb(cloudflareAddress) };
