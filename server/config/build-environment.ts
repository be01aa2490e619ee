/** The variables that Node and Vite need. `NODE_*` would include `NODE_AUTH_TOKEN`, the token of a registry. */
const names = ['PATH', 'HOME', 'TMPDIR', 'TMP', 'TEMP', 'SYSTEMROOT', 'NODE_OPTIONS', 'NODE_PATH', 'NODE_COMPILE_CACHE']

/**
 * Returns the environment of a process that builds the web UI. Build tools run third-party code, so the process
 * receives none of the Hub's settings, which contain keys and passwords, and no other secrets of its parent.
 */
export function buildEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(names.filter((name) => env[name] !== undefined).map((name) => [name, env[name]]))
}
