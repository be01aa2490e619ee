import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import presetMantine from 'postcss-preset-mantine'
import { defineConfig } from 'vite'

/** The placeholder that the server replaces by a fresh nonce in each response. */
export const noncePlaceholder = '__CSP_NONCE__'

/** Builds the web UI from `web/` into `web/dist/`, which the Hub serves. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react()],
  css: { postcss: { plugins: [presetMantine()] } },
  html: { cspNonce: noncePlaceholder },
  build: {
    target: 'es2023',
    outDir: 'dist',
    emptyOutDir: true,
    // Inline assets would violate the policy: nothing may be inline in the page itself.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // Lists the initial files of each page: tests/web/first-load.test.ts adds them up.
    manifest: 'manifest.json',
    rolldownOptions: {
      // One file for the scripts that every page needs: eighty small ones take 30 kB more, since each is compressed by
      // itself.
      output: { codeSplitting: { groups: [{ name: 'shell', tags: ['$initial'] }] } },
    },
  },
})
