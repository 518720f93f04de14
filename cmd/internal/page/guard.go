package page

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
)

// cookie is the name of the cookie that has the token after the first request.
const cookie = "wfs-ui"

// maxBody limits the size of a form, in bytes.
const maxBody = 1 << 20

// policy lets the page load only what this server serves. No script and no style stands inside of a page, so text of an
// agent that looks like one does nothing.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// guarded answers only requests that come from this page, in a browser that has the token.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers would post our own forms without an origin
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !loopback(r.Host) { // another site's name may lead to this address
			forbid(w, "This page answers only at 127.0.0.1.")
			return
		}
		if given := r.URL.Query().Get("token"); given != "" && r.URL.Path == s.root+"/" && r.Method == http.MethodGet {
			s.enter(w, given)
			return
		}
		// Other programs on this machine can set cookies of the same name: one of them has to be right.
		if !slices.ContainsFunc(r.CookiesNamed(cookie), func(c *http.Cookie) bool { return same(c.Value, s.key) }) {
			forbid(w, "Open the address that wfs ui printed, with its token.")
			return
		}
		if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
			forbid(w, "Another page led here. Type the address, or open it from the terminal.")
			return
		}
		if r.Method == http.MethodPost {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			if r.Header.Get("Origin") != "http://"+r.Host || !same(r.PostFormValue("form"), s.form) {
				s.refuse(w, http.StatusForbidden,
					"This form is not from this page, or from before wfs ui was restarted.")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// forbid refuses a request of somebody who need not know the path above all pages.
func forbid(w http.ResponseWriter, text string) { http.Error(w, text, http.StatusForbidden) }

// enter stores the token in the browser. It answers with a page that leads on, and not with a redirect, because
// browsers would take the redirected request for one of the page that had the link.
func (s *Server) enter(w http.ResponseWriter, given string) {
	s.mu.Lock()
	valid := same(given, s.token)
	if valid {
		s.token = rand.Text() // what stays in the history of the browser opens nothing
	}
	s.mu.Unlock()
	if !valid {
		forbid(w, "This address was used, or is of another wfs ui. Open the newest one that it printed.")
		return
	}
	s.Say("opened in a browser; for another one: " + s.Address())
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: s.key, Path: s.root + "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
	s.show(w, "enter.html", view{Title: "wfs"})
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// loopback reports whether the host of a request is the address of this machine, at any port: ssh may forward another
// one. A name is refused, because another site's name, or another program at the name localhost, may lead here.
func loopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	return err == nil && name == "127.0.0.1"
}
