// Runs on the page of a sign-in link, which works once. Ignores the second of two clicks, which would find it used.
;(() => {
  const clickIntervalMs = 10_000
  let sentAt
  document.querySelector('form').addEventListener('submit', (event) => {
    if (sentAt !== undefined && event.timeStamp - sentAt < clickIntervalMs) event.preventDefault()
    else sentAt = event.timeStamp
  })
})()
