import { Agent, request } from 'node:http';

const AT_ONCE = 20;

/** Sends so many requests as fast as the server answers them. */
export function flood(url: string, count: number): Promise<unknown> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let left = count;
  const sendAll = async () => {
    while (left-- > 0) {
      await new Promise((resolve, reject) => {
        request(`${url}/hit`, { method: 'POST', agent }, (response) => response.resume().on('end', resolve))
          .on('error', reject)
          .end();
      });
    }
  };
  return Promise.all(Array.from({ length: AT_ONCE }, sendAll)).finally(() => agent.destroy());
}
