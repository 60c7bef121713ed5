/**
 * The name under which the gateway itself can be called, and its tools' names, for everybody who points to them.
 * @module
 */

/** The server name reserved for the gateway's own tools. */
export const OWN_SERVER = 'anygpt';

/** The tool that reads parts of another tool's schema. */
export const READ_SCHEMA_NAME = 'read_schema';
