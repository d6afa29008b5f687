// SPDX-License-Identifier: Apache-2.0

package expr

// Linear regression in SQL, of y by x: forms on the aggregates of the rows where neither is NULL.

// regression is the form of a function of y and x. f has the pairs: y and x, each NULL where the other one is.
func regression(f func(p *parser, at int, y, x Expr) Expr) form {
	return form{arity{2, 2}, func(p *parser, at int, args []Expr) Expr {
		beside := func(e, other Expr) Expr {
			return p.make(at, opCase, p.make(at, opIsNull, other), Lit(nil), p.cast(at, opCast, e, typeFloat64))
		}
		return f(p, at, beside(args[0], args[1]), beside(args[1], args[0]))
	}}
}

func regressionCount(p *parser, at int, _, x Expr) Expr { return p.make(at, opCount, x) }

func regressionMean(ofX bool) form {
	return regression(func(p *parser, at int, y, x Expr) Expr {
		if ofX {
			y = x
		}
		return p.make(at, "avg", y)
	})
}

// squares is n times the variance of x.
func squares(p *parser, at int, _, x Expr) Expr {
	return p.make(at, opMul, p.make(at, opCount, x), p.make(at, "variance_pop", x))
}

func products(p *parser, at int, y, x Expr) Expr {
	return p.make(at, opMul, p.make(at, opCount, x), p.make(at, "covar_pop", y, x))
}

// slope is NULL if all x are equal.
func slope(p *parser, at int, y, x Expr) Expr {
	variance := p.make(at, "variance_pop", x)
	nonzero := p.make(at, opCase, p.make(at, opEq, variance, p.literal(at, 0)), Lit(nil), variance)
	return p.make(at, opDiv, p.make(at, "covar_pop", y, x), nonzero)
}

func intercept(p *parser, at int, y, x Expr) Expr {
	return p.make(at, opSub, p.make(at, "avg", y), p.make(at, opMul, slope(p, at, y, x), p.make(at, "avg", x)))
}

// determination is NULL if all x are equal, else 1 if all y are.
func determination(p *parser, at int, y, x Expr) Expr {
	zero := func(e Expr) Expr { return p.make(at, opEq, p.make(at, "variance_pop", e), p.literal(at, 0)) }
	square := p.make(at, "pow", p.make(at, "corr", y, x), p.literal(at, 2))
	return p.make(at, opCase, zero(x), Lit(nil), zero(y), p.literal(at, 1), square)
}
