import { anthropic } from '../src/dialects/anthropic';
import { discord } from '../src/dialects/discord';
import { draftHeaders } from '../src/dialects/draft-headers';
import { github } from '../src/dialects/github';
import { google } from '../src/dialects/google';
import { openai } from '../src/dialects/openai';
import { shopify } from '../src/dialects/shopify';
import { slack } from '../src/dialects/slack';
import { stripe } from '../src/dialects/stripe';
import { xRateLimit } from '../src/dialects/x-rate-limit';

export const ALL_DIALECTS = [
  draftHeaders(),
  xRateLimit(),
  github(),
  openai(),
  anthropic(),
  discord(),
  shopify(),
  stripe(),
  slack(),
  google(),
];
