import '@fontsource-variable/inter/wght.css'
import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import '@mantine/spotlight/styles.css'
import './styles.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/query-client.ts'
import { reloadAfterUpgrade } from './app/reload-after-upgrade.ts'
import { router } from './app/router.tsx'
import { styleNonce } from './app/style-nonce.ts'
import { theme } from './theme.ts'

reloadAfterUpgrade()

const container = document.getElementById('app')
if (!container) throw new Error('The page has no place for the application.')
// Dialogs keep the page behind them from scrolling by a style for which react-remove-scroll takes the nonce from here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce() })
createRoot(container).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={styleNonce}>
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
