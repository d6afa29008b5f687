// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExported(t *testing.T) {
	for name, want := range map[string]string{
		"name": "Name", "user_id": "UserID", "userId": "UserID", "UserID": "UserID", "id": "ID", "http_url": "HTTPURL", "ids": "IDs", "_x": "X",
		"two words": "TwoWords", "a-b": "AB", "1st": "X1st", "日本": "X日本", "": "X", "ABC": "ABC", "a_1": "A1", "été": "Été", "lat": "Lat",
	} {
		require.Equal(t, want, exported(name), name)
	}
}

func TestParameter(t *testing.T) {
	for field, want := range map[string]string{
		"Name": "name", "UserID": "userID", "ID": "id", "IDs": "ids", "HTTPStatus": "httpStatus", "URL": "url", "URL2": "url2", "Type": "typeValue",
		"String": "stringValue", "T": "tValue", "CQL": "cqlValue", "X1st": "x1st", "X日本": "x日本", "SelectItem": "selectItem", "AStar": "aStar",
	} {
		require.Equal(t, want, parameter(field), field)
	}
}

func TestSingular(t *testing.T) {
	for table, want := range map[string]string{
		"items": "item", "order_items": "order_item", "movies": "movie", "status": "status", "addresses": "address", "address": "address",
		"categories": "category", "metadata": "metadata", "data": "data", "news": "news", "series": "series", "people": "person",
		"videos_by_user": "videos_by_user", "UserItems": "UserItem", "_": "_", "x1": "x1",
	} {
		require.Equal(t, want, singular(table), table)
	}
}

func TestNameSet(t *testing.T) {
	names := nameSet{}
	require.Equal(t, []string{"A", "A2", "A3", "B"}, []string{names.add("A"), names.add("A"), names.add("A"), names.add("B")})
	require.Equal(t, "", names.addAll("C", "D"))
	require.Equal(t, "4", names.addAll("A", "C"), "one number for all")
	require.Equal(t, "C2", names.add("C"))
}
