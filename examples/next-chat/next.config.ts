import type { NextConfig } from 'next'

// The lock files of folders above are of other projects.
export default { turbopack: { root: import.meta.dirname } } satisfies NextConfig
