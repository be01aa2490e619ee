import { createRoot } from 'react-dom/client'

const container = document.getElementById('app')
if (!container) throw new Error('The page has no place for the application.')
createRoot(container).render(<p>Org-Memory Hub</p>)
