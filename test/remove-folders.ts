/**
 * Removes the folders that the fixtures of a test file made, after its last test.
 * @module
 */
import { afterAll } from 'vitest';
import { removeFolders } from './fixtures/folders.ts';

afterAll(removeFolders);
