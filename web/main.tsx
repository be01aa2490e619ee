import '@fontsource-variable/inter/wght.css'
import '@mantine/core/styles.css'
import './styles.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/query-client.ts'
import { router } from './app/router.tsx'
import { styleNonce } from './app/style-nonce.ts'
import { ToastArea } from './app/toast-area.tsx'
import { theme } from './theme.ts'

const container = document.getElementById('app')
if (!container) throw new Error('The page has no place for the application.')
// Dialogs stop the page behind them from scrolling by a style; react-remove-scroll reads its nonce from here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce() })
createRoot(container).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={styleNonce}>
      <QueryClientProvider client={queryClient}>
        <ToastArea />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
