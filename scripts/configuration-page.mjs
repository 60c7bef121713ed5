// Writes docs/configuration.md from the built schema.
import { mkdirSync, writeFileSync } from 'node:fs';
import { toReferencePage } from '../dist/config/reference-page.js';

const page = new URL('../docs/configuration.md', import.meta.url);
mkdirSync(new URL('.', page), { recursive: true });
writeFileSync(page, toReferencePage());
