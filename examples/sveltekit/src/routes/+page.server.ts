import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async ({ fetch }) =>
  (await fetch('/api/hello')).json();
