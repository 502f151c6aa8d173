/** Limits of a sentence, a paragraph and a heading. */
export const MOST_WORDS = 25;
export const MOST_COLONS = 1;
export const MOST_HEADING_WORDS = 8;

/**
 * Phrases that do not appear in the project's text, each with what to write instead. The patterns run on text without
 * code spans and links' addresses.
 */
export const BANNED = [
  [/\b(?:tell|tells|told)\b/i, 'Things do not tell: responses carry, methods return, logs contain'],
  [/\b(?:anew|afresh)\b/i, '"again"'],
  [/\btoo dear\b|\bdearer\b/i, '"expensive"'],
  [/\bmild(?:er|ly)?\b/i, '"lenient"'],
  [/\bmend(?:s|ed|ing)?\b/i, '"fix"'],
  [/\bin the place of\b/i, '"instead of"'],
  [/\bbeside\b/i, '"next to"'],
  [/\bmeanwhile\b/i, '"until then"'],
  [/\balso when\b/i, '"even when"'],
  [/\bstands? in\b|\bstand-in\b/i, '"fallback"'],
  [/\bwhoever\b|\bsomebody\b|\bnobody\b|\beverybody\b|\banybody\b/i, 'Name the actor: the client, the caller, you'],
  [/(?:^|[.;:] )who\b(?![^.]*\?)/i, 'Name the actor instead of a bare "who"'],
  [/\bthose who\b|\bhe who\b|\bone who\b/i, 'Name the actor instead of a bare "who"'],
  [/\bof (?:yours|theirs|its own|your own|the user's)\b/i, 'Put the possessive before the noun'],
  [/\b(?:is|are|was|were) no (?!longer|more|less|fewer|way|need|room|difference|limit\b)/i, '"is not a"'],
  [/\bis (?:told|noted|asked)\b/i, 'Name the actor; use the active voice'],
  [/\brefus(?:e|es|ed|al|als|ing)\b/i, '"reject", "rejection"'],
  [/\blet(?:s)? through\b|\bheld back\b|\bhold back\b/i, '"allowed" or "rejected"'],
  [/\bgiv(?:e|es|en|ing) back\b|\bgave back\b/i, '"refund", "free" or "return"'],
  [/\bin lockstep with\b/i, 'Say what follows what'],
];

/** British spellings, each with the American one. */
export const BRITISH = [
  [/\blicence/i, 'license'],
  [/\bbehaviour/i, 'behavior'],
  [/\bcolour/i, 'color'],
  [/\bfavour/i, 'favor'],
  [/\bneighbour/i, 'neighbor'],
  [/\bhonour/i, 'honor'],
  [/\bcancelled|\bcancelling/i, 'canceled, canceling'],
  [/\blabelled|\blabelling/i, 'labeled, labeling'],
  [
    /\b(?:recogn|organ|summar|normal|serial|optim|priorit|real|util|minim|maxim|initial|custom|author)is(?:e|es|ed|ing|ation)\b/i,
    '-ize',
  ],
  [/\banalyse/i, 'analyze'],
  [/\bcentre/i, 'center'],
  [/\bgrey\b/i, 'gray'],
  [/\bwhilst\b/i, 'while'],
  [/\bcatalogue\b/i, 'catalog'],
];
