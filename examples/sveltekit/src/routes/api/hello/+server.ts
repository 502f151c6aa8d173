export const GET = (): Response => Response.json({ hello: 'world' });
